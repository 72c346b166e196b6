"""Becomes the MCP server that is installed next to this interpreter."""

import os
import sysconfig

belljar = os.path.join(sysconfig.get_path("scripts"), "belljar")
os.execv(belljar, [belljar, "serve"])
