module hauliertrips

go 1.26
