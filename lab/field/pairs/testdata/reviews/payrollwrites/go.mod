module payrollwrites

go 1.26
