module dispensary

go 1.26
