module quarryloads

go 1.26
