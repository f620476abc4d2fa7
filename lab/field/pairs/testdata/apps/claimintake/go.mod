module claimintake

go 1.26
