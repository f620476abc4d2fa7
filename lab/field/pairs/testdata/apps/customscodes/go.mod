module customscodes

go 1.26
