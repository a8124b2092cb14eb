"""The compiled game: numba kernels over one structured record. Nothing above it is known here."""
