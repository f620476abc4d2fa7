module auctionsyncmap

go 1.26
