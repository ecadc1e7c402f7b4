"""The commands as library functions: one module and one function each. The command line parses, calls and prints."""
