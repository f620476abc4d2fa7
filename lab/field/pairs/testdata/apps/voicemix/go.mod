module voicemix

go 1.26
