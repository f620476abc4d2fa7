// Package claim describes insurance claims.
package claim

type Party struct {
	Name    string `json:"name" check:"required,max=60,text"`
	Street  string `json:"street" check:"required,max=80,text"`
	City    string `json:"city" check:"required,max=40,text"`
	Country string `json:"country" check:"required,oneof=AT/CH/DE/FR/IT"`
	Phone   string `json:"phone" check:"max=20,digits"`
}

type Position struct {
	Code     string `json:"code" check:"required,max=8,text"`
	Text     string `json:"text" check:"max=120,text"`
	Quantity int    `json:"quantity" check:"range=1:500"`
	Cents    int    `json:"cents" check:"range=0:5000000"`
	Vat      int    `json:"vat" check:"range=0:25"`
}

type Claim struct {
	Policy    string     `json:"policy" check:"required,max=16,digits"`
	Kind      string     `json:"kind" check:"required,oneof=motor/home/travel/liability"`
	Happened  string     `json:"happened" check:"required,max=10"`
	Insured   Party      `json:"insured"`
	Other     Party      `json:"other"`
	Positions []Position `json:"positions"`
	Remarks   string     `json:"remarks" check:"max=200,text"`
}

type Decision struct {
	Number   int64  `json:"number"`
	Accepted bool   `json:"accepted"`
	Payout   int64  `json:"payout"`
	Reason   string `json:"reason,omitempty"`
	Receipt  string `json:"receipt"`
	Error    string `json:"error,omitempty"`
}
