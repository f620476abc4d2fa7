module kmerconversions

go 1.26
