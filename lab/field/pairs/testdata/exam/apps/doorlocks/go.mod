module doorlocks

go 1.23
