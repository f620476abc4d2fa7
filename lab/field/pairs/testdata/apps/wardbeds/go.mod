module wardbeds

go 1.26
