module payoutstls

go 1.26
