module tarballs

go 1.26
