module feedsubslices

go 1.26
