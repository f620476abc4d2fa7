module csvutilbills

go 1.26

require github.com/jszwec/csvutil v1.10.0
