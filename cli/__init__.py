"""The command line: parses, calls the library, prints. One module a command, no arithmetic."""
