"""``python -m firal.companion.prepare NAME``: the command behind ``make data``."""

import sys

from firal.companion.prepare.pool_file import main

sys.exit(main())
