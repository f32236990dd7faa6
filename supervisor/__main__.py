"""Entry of the supervisor process; see `supervisor.daemon`."""

import os
import sys

if __name__ == "__main__":
    # Last, so that no folder of the project can hide a module of the standard library.
    sys.path.append(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    from supervisor.daemon import main

    sys.exit(main(sys.argv))
