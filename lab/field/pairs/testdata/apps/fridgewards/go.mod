module fridgewards

go 1.26
