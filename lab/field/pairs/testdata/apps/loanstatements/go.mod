module loanstatements

go 1.26
