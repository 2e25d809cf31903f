// SPDX-License-Identifier: LGPL-2.1-or-later
//! Where libtwheel is: pkg-config tells that; or `TWHEEL_LIB_DIR`, the folder with libtwheel.so or
//! libtwheel.a in it.
use std::env;
use std::process::{exit, Command};

/// The folders that pkg-config names for libtwheel; `None`: it knows of none such.
fn pkg_config() -> Option<Vec<String>> {
    let out = Command::new("pkg-config")
        .args(["--libs-only-L", "libtwheel"])
        .output()
        .ok()?;

    if !out.status.success() {
        return None;
    }
    let flags = String::from_utf8(out.stdout).ok()?;
    Some(
        flags
            .split_whitespace()
            .filter_map(|f| f.strip_prefix("-L"))
            .map(String::from)
            .collect(),
    )
}

fn main() {
    println!("cargo:rerun-if-env-changed=TWHEEL_LIB_DIR");
    println!("cargo:rerun-if-env-changed=PKG_CONFIG_PATH");
    let folders = match env::var("TWHEEL_LIB_DIR") {
        Ok(folder) => vec![folder],
        Err(_) => pkg_config().unwrap_or_else(|| {
            eprintln!(
                "pkg-config does not find libtwheel: make install it, or say where it is by \
                 TWHEEL_LIB_DIR=/where/it/is"
            );
            exit(1);
        }),
    };
    for folder in folders {
        println!("cargo:rustc-link-search=native={folder}");
    }
    println!("cargo:rustc-link-lib=twheel");
}
