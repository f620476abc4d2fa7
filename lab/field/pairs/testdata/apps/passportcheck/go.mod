module passportcheck

go 1.26
