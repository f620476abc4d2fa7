module glasshouses

go 1.26
