"""Links from docs/ to other files of the repository: the site brings those files along.

A page may say `../results/gpu.md` or show `../results/study/intervals.png`, as it must to read well in the repository
itself. The file goes into the site under repository/, and the link with it.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files, InclusionLevel

LINK = re.compile(r"(\]\()\.\./([^)#\s]+)")
FOLDER = "repository"


def on_files(files: Files, *, config: Any) -> Files:
    """The site's files, and those of the repository that pages in docs/ itself link to."""
    root = Path(config.config_file_path).parent
    for page in list(files.documentation_pages()):
        if "/" in page.src_uri or page.generated_by:
            continue
        for _, name in LINK.findall(page.content_string):
            source, target = root / name, f"{FOLDER}/{name}"
            if not source.is_file():
                raise PluginError(f"{page.src_uri} links to ../{name}, which is no file of the repository")
            if files.get_file_from_path(target) is None:
                inclusion = InclusionLevel.NOT_IN_NAV
                files.append(File.generated(config, target, abs_src_path=str(source), inclusion=inclusion))
    return files


def on_page_markdown(markdown: str, *, page: Any, **_: Any) -> str:
    """The page with its links led there."""
    return markdown if "/" in page.file.src_uri else LINK.sub(rf"\1{FOLDER}/\2", markdown)
