module palletstore

go 1.26
