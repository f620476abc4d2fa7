module nightlycheck

go 1.26
