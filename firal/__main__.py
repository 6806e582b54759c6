"""``python -m firal`` is the command ``firal``."""

import sys

from firal.cli import main

sys.exit(main())
