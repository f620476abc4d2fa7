module shuttlefares

go 1.25
