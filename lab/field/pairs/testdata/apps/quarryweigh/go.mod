module quarryweigh

go 1.26
