module blobdepot

go 1.26
