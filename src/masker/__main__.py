"""``python -m masker``, which launchers such as torchrun need."""

from masker.cli import main

main()
