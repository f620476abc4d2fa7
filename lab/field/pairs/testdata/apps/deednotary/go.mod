module deednotary

go 1.26
