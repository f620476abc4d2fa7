module menutemplates

go 1.26
