# SPDX-License-Identifier: GPL-2.0
"""What bash, zsh and fish offer behind twheel, twheel-demo and twheel-sim, once they are installed:
exactly the verbs and the long options that their --help names."""
import pathlib
import re
import shutil

import pytest
from commands import BUILD, TOOLS, cases, options_of, run, verbs

BASH_COMPLETION = pathlib.Path("/usr/share/bash-completion/bash_completion")

BASH = r"""
. /usr/share/bash-completion/bash_completion
compopt() { :; }
read -ra COMP_WORDS <<<"$1"
_completion_loader "${COMP_WORDS[0]}"
[ "${1% }" = "$1" ] || COMP_WORDS+=("")
COMP_LINE=$1 COMP_POINT=${#1} COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
_twheel "${COMP_WORDS[0]}" "${COMP_WORDS[-1]}" "${COMP_WORDS[-2]}"
printf "%s\n" "${COMPREPLY[@]}"
"""

# zsh completes on a terminal alone: here on one that it has from itself.  It is ready for keys
# when its editor has begun with a line, and has completed when it begins with the next.  All
# that is offered goes through compadd.
ZSHRC = r"""
PROMPT= PROMPT_EOL_MARK=
fpath=($share/zsh/site-functions $fpath)
autoload -Uz compinit
compinit -D -u
compadd() {
	if [[ ${@[1,(i)(-|--)]} != *-(O|A|D)\ * ]]; then
		local -a offered
		builtin compadd -A offered "$@"
		print -l "<"${^offered}">"
	fi
	builtin compadd "$@"
}
bindkey "^I" complete-word
zle-line-init() { print READY }
zle -N zle-line-init
"""

ZSH = r"""
zmodload zsh/zpty
zpty shell zsh -f -i
zpty -w shell ". $2"
zpty -r shell text "*READY*"
zpty -n -w shell "$1"$'\t\C-u\n'
zpty -r shell text "*READY*"
print -r -- $text
"""

FISH = r"""
source $share/fish/vendor_completions.d/(string split " " $argv[1])[1].fish
complete -C $argv[1]
"""


@pytest.fixture(name="installed", scope="session")
def fixture_installed(tmp_path_factory):
    """The folder that the tools are installed to, and what make install had to say."""
    folder = tmp_path_factory.mktemp("installed")
    result = run("make", "-s", "-C", TOOLS, f"O={BUILD}", f"DESTDIR={folder}", "PREFIX=/root",
                 "install")
    return folder / "root", result


def test_make_install_succeeds(installed):
    """With DESTDIR and PREFIX."""
    folder, result = installed
    assert result.status == 0
    assert (folder / "bin" / "twheel").exists()


@pytest.fixture(name="offered")
def fixture_offered(installed, tmp_path, monkeypatch):
    """What a shell offers behind a line."""
    folder, _ = installed
    monkeypatch.setenv("PATH", str(folder / "bin"), prepend=":")
    monkeypatch.setenv("share", str(folder / "share"))

    def ask(shell, line):
        if not shutil.which(shell) or (shell == "bash" and not BASH_COMPLETION.exists()):
            pytest.skip(f"there is no {shell}, or no package bash-completion")
        if shell == "bash":
            monkeypatch.setenv("XDG_DATA_DIRS", str(folder / "share"))
            result = run("bash", "--norc", "-c", BASH, "bash", line)
        elif shell == "fish":
            monkeypatch.setenv("HOME", str(tmp_path))
            result = run("fish", "--no-config", "-c", FISH, line)
        else:
            (tmp_path / "zshrc").write_text(ZSHRC, encoding="ascii")
            result = run("zsh", "-f", "-c", ZSH, "zsh", line, tmp_path / "zshrc", timeout=60)
            result.out = "\n".join(re.findall("<([^>]*)>", result.out))
        assert result.err == ""
        return {re.sub("[=\t].*", "", word) for word in result.lines}

    return ask


@pytest.fixture(name="shell", params=["bash", "zsh", "fish"])
def fixture_shell(request):
    """Each shell."""
    return request.param


def test_offers_the_verbs(offered, shell):
    """Behind a blank."""
    assert offered(shell, "twheel ") == set(verbs()) != set()


@cases("command", "twheel", *(f"twheel {verb}" for verb in verbs()), "twheel-demo", "twheel-sim")
def test_offers_the_options_of(offered, shell, command):
    """Behind --."""
    assert offered(shell, command + " --") == set(options_of(*command.split())) != set()


def test_offers_one_option_behind_another(offered, shell):
    """Of the beginning of a word, what goes on so."""
    assert offered(shell, "twheel arm --json --ev") == {"--every"}
