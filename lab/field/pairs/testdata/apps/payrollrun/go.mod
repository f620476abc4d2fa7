module payrollrun

go 1.26
