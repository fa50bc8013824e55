"""``flow`` as a worker of ``warm_worker.py``: importing this imports Flow, running it is ``flow``.

Python's start and the imports cost several times what most commands of a page do.
"""

from __future__ import annotations

import os
import sys

from flow.__main__ import main
from tests.faults.scenes import preload
from tests.support import ROOT

if __name__ == "__main__":
    sys.argv[0] = os.path.join(ROOT, "bin", "flow")
    sys.exit(main())
preload()
