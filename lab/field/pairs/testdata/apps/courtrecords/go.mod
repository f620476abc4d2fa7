module courtrecords

go 1.26
