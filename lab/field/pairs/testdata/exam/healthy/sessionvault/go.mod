module sessionvault

go 1.25
