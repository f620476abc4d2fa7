module chathistory

go 1.26
