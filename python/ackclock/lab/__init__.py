"""The lab: a page in which the core runs as WebAssembly, and what serves it."""
