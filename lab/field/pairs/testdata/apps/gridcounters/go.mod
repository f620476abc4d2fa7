module gridcounters

go 1.26
