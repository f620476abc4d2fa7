module signedlinks

go 1.26
