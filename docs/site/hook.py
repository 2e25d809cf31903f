# SPDX-License-Identifier: GPL-2.0
"""What mkdocs takes into the site, and what it can't do with that.

The Markdown pages and the pictures of the tree are in the site where they are in the tree. Other
files and folders are pages of their text, because pages link to them. From build/ come the man
pages and the page on which wheels turn. A link that leads nowhere is an error, and so is something
that a page would load from the network."""
import fnmatch
import html
import html.parser
import logging
import pathlib
import posixpath
import re
import subprocess

from mkdocs.structure.files import File, Files

TREE = pathlib.Path(__file__).resolve().parents[2]
MANUAL = re.compile(r"(?:<b>)?\b([\w-]+)(?:</b>)?\((\d)\)")
TEXT = """<!doctype html>
<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<style>:root {{ color-scheme: light dark }} pre {{ overflow-x: auto }}</style>
<title>{name}</title><p><a href="{home}">twheel</a>: {name}</p><pre>{text}</pre>
"""
log = logging.getLogger("mkdocs.plugins.site")


def output(*command):
    """What a command prints in the tree."""
    return subprocess.run(command, cwd=TREE, check=True, stdout=subprocess.PIPE, text=True).stdout


class Manual(File):
    """A man page: NAME.SECTION, as make -C man builds it."""

    def is_documentation_page(self):
        return True

    def _get_stem(self):
        return posixpath.basename(self.src_uri)

    def linked(self, match):
        """The name of a man page as a link, if the site has that page."""
        name = f"{match[1]}.{match[2]}"
        page = pathlib.Path(self.abs_src_path).with_name(name)
        if name == self.name or not page.exists():
            return match[0]
        alias = re.match(r"\.so man3/(\S+)", page.read_text("utf-8"))
        return f'<a href="{alias[1] if alias else name}.html">{match[0]}</a>'

    def content(self):
        """The page in HTML, without the lines above and below it."""
        text = output("mandoc", "-T", "html", "-O", "fragment", self.abs_src_path)
        text = text[text.index('<div class="manual-text">'):text.rindex('<table class="foot">')]
        # Headings are links to themselves. The heading above them is the name of the page.
        text = re.sub(r'<a class="permalink"[^>]*>(.*?)</a>', r"\1", text, flags=re.S)
        text = re.sub(r"<(/?)h([12])\b", lambda m: f"<{m[1]}h{int(m[2]) + 1}", text)
        return MANUAL.sub(self.linked, text)


class Text(File):
    """A file as a page of its text, a folder as a page of links to what the tree has in it."""
    tree = None

    def _get_dest_path(self, use_directory_urls):
        return self.src_uri + ".html"

    def links(self):
        """What is in the folder, one a line."""
        inside = self.src_uri + "/"
        names = sorted({path[len(inside):].split("/")[0] for path in self.tree
                        if path.startswith(inside)})
        return "\n".join(f'<a href="{self.tree[inside + name].url_relative_to(self)}">{name}</a>'
                         for name in names)

    def copy_file(self, dirty=False):
        text = self.links() if self.tree else html.escape(
            pathlib.Path(self.abs_src_path).read_text("utf-8", "replace"))
        path = pathlib.Path(self.abs_dest_path)
        path.parent.mkdir(parents=True, exist_ok=True)
        home = posixpath.relpath("index.html", posixpath.dirname(self.url))
        path.write_text(TEXT.format(name=self.src_uri, text=text, home=home), "utf-8")


def on_files(files, config):
    """The tree instead of what is in docs_dir. The nav's patterns become names."""
    def add(kind, path, top=TREE):
        tree[path] = kind(path, str(top), config["site_dir"], False)
        return tree[path]

    tree = {}
    for path in output("bash", "-c", ". vm/lib && tree_files").splitlines():
        # Where git can't tell, what was built is among them.
        if "build" in pathlib.PurePath(path).parent.parts:
            continue
        add(File if path.endswith((".md", ".svg", "/site.css")) else Text, path)
        for folder in map(str, pathlib.PurePath(path).parents[:-1]):
            if folder not in tree:
                add(Text, folder).tree = tree
    for page in (TREE / "build/man").glob("*.[1-7]"):
        if not page.read_text("utf-8").startswith(".so "):
            add(Manual, f"man/{page.name}", TREE / "build")
    add(File, "play/index.html").abs_src_path = str(TREE / "build/play/site.html")
    for section in config["nav"]:
        for title, pages in section.items():
            if isinstance(pages, list):
                found = [sorted(fnmatch.filter(tree, page)) or [page] for page in pages]
                section[title] = list(dict.fromkeys(sum(found, [])))
    theme = [file for file in files if not file.abs_src_path.startswith(config["docs_dir"])]
    return Files([*tree.values(), *theme])


def on_nav(nav, config, files):
    """All pages are in it."""
    for file in files.documentation_pages():
        if file.page not in nav.pages:
            log.warning("%s is not in the nav of mkdocs.yml", file.src_uri)


def on_page_read_source(page, config):
    """A page from its heading on, where mkdocs looks for the title, and with Markdown in details,
    as GitHub has it. Of a man page, the heading."""
    if isinstance(page.file, Manual):
        return "# %s(%s)" % tuple(page.file.name.rsplit(".", 1))
    text = pathlib.Path(page.file.abs_src_path).read_text("utf-8").split("-->\n", 1)[-1]
    return text.replace("<details>", '<details markdown="1">')


def on_page_content(content, page, config, files):
    """mkdocs makes links to pages out of those to names with a dot; here are the others."""
    def linked(match):
        path = posixpath.normpath(posixpath.join(posixpath.dirname(page.file.src_uri), match[1]))
        file = files.get_file_from_path(path + "/README.md") or files.get_file_from_path(path)
        return f'href="{file.url_relative_to(page.file)}"' if file else match[0]

    if isinstance(page.file, Manual):
        content += page.file.content()
    content = re.sub(r"<p>(<summary>.*?</summary>)</p>", r"\1", content)
    return re.sub(r'href="((?:\.\./)*[\w/-]+)"', linked, content)


class Links(html.parser.HTMLParser):
    """A page's links, what it loads, and the places in it that links can lead to."""

    def __init__(self, path):
        super().__init__()
        self.links, self.loads, self.ids = [], [], {""}
        self.feed(path.read_text("utf-8"))

    def handle_starttag(self, tag, attrs):
        for name, value in attrs:
            if name == "id":
                self.ids.add(value)
            elif name in ("href", "src"):
                (self.links if tag == "a" else self.loads).append(value)


def on_post_build(config):
    """mkdocs does not look at headings, nor at what its theme loads."""
    site = pathlib.Path(config["site_dir"])
    pages = {path: Links(path) for path in site.glob("**/*.html")}
    for path, page in pages.items():
        for link in page.links + page.loads:
            to, _, heading = link.partition("#")
            folder = site if to.startswith("/") else path.parent
            file = (folder / to.strip("/")).resolve() if to else path
            if re.match(r"\w+:|//", link):
                if link in page.loads:
                    log.warning("%s loads %s from the network", path.relative_to(site), link)
            elif not file.is_file() or (file in pages and heading not in pages[file].ids):
                log.warning("%s links to %s, which is not there", path.relative_to(site), link)
