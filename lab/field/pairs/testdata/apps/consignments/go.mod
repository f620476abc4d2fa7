module consignments

go 1.26
