module photodefers

go 1.26
