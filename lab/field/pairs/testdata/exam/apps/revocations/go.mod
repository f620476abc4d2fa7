module revocations

go 1.24
