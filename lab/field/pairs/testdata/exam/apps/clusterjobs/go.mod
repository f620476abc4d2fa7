module clusterjobs

go 1.26
