#!/usr/bin/env python3
"""Checks that every folder of src/ includes only what lies below it (the order of ARCHITECTURE.md), and that
third-party types stay where they belong."""
import pathlib
import re
import sys

# folder: what it may include besides itself
ALLOWED = {
    "base": set(),
    "system": {"base"},
    "async": {"base", "system"},
    "domain": {"base"},
    "crypto": {"base"},
    "net": {"base", "system", "async", "domain"},
    "workspace": {"base", "system", "crypto", "domain"},
    "git": {"base", "system", "domain", "workspace"},
    "store": {"base", "system", "crypto", "domain"},
    "snapshot": {"base", "system", "crypto", "domain", "workspace", "git", "store"},
    "recovery": {"base", "system", "async", "crypto", "domain", "workspace", "git", "snapshot"},
    "confinement": {"base", "system", "domain"},
    "egress": {"base", "system", "async", "domain", "net"},
    "provider": {"base", "system", "async", "domain", "workspace"},
    "control": {"base", "system", "crypto", "domain", "confinement", "egress", "workspace", "git", "store", "snapshot",
                "recovery"},
    "cli": {"base", "system", "crypto", "domain", "workspace", "store", "snapshot", "recovery", "control"},
    "apps": {"base", "system", "async", "domain", "net", "confinement", "egress", "control", "cli"},
}
# header prefix: folders whose files may include it
OWNED = {
    "boost/beast": {"net"},
    "boost/asio": {"async", "net", "egress", "provider", "providers", "control", "apps"},
    "boost/json": {"base", "domain", "workspace", "confinement", "egress", "snapshot", "provider", "providers", "ledger",
                   "control", "cli"},
    "CLI/": {"cli"},
    "yaml-cpp/": {"domain"},
    "libpsl": {"domain"},
    "idn2": {"domain"},
    "seccomp.h": {"apps"},
    "openssl/": {"crypto", "net"},
    "sodium.h": {"crypto"},
    "zstd.h": {"workspace", "snapshot"},
    "sqlite3.h": {"store"},
    "libpq-fe.h": {"store"},
    "expat.h": {"store"},
    "curl/": {"store", "net"},
    "valijson/": {"provider"},
}

root = pathlib.Path(__file__).resolve().parent.parent
problems = []
for path in sorted((root / "src").rglob("*")):
    if path.suffix not in {".h", ".cc"}:
        continue
    folder = path.relative_to(root / "src").parts[0]
    for number, line in enumerate(path.read_text().splitlines(), 1):
        match = re.match(r'\s*#include [<"]([^">]+)[">]', line)
        if not match:
            continue
        target = match.group(1)
        first = target.split("/")[0]
        where = f"{path.relative_to(root)}:{number}"
        if first in ALLOWED and "/" in target and first != folder and first not in ALLOWED[folder]:
            problems.append(f"{where}: {folder} may not include {target}")
        for prefix, owners in OWNED.items():
            if target.startswith(prefix) and folder not in owners:
                problems.append(f"{where}: {target} belongs to {', '.join(sorted(owners))}")
        if path.suffix == ".h" and target.startswith(("boost/beast", "CLI/", "yaml-cpp/")) and folder != "net":
            problems.append(f"{where}: {target} must not be in a header outside its folder")
for problem in problems:
    print(problem)
sys.exit(1 if problems else 0)
