module scaninbox

go 1.26
