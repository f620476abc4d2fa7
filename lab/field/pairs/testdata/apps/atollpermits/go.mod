module atollpermits

go 1.26
