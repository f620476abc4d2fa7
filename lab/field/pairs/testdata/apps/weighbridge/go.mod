module weighbridge

go 1.26
