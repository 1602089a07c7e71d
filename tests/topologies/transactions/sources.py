"""The sentences of the rules of TStream's applications."""

from __future__ import annotations

from collections.abc import Mapping

from tests.topologies.sources import TSTREAM, Code, Guess, Origin, Source

LEDGER = "dataArtisans/da-streamingledger, SimpleTradeExample and its TxnHandler"
FOLLOWS = Source(
    TSTREAM,
    "State accesses must strictly follow their triggering event's timestamp sequence.",
)
TOLL = "the paper computes tolls from speed and count, and does not say how; the formula is Linear Road's"

GREP_SUM: Mapping[str, Origin] = {
    "writes": Source(
        TSTREAM,
        "otherwise, it updates the state with a list of WRITE operations and forwards the input event to "
        "Sink.",
    ),
    "in_order": FOLLOWS,
}
STREAMING_LEDGER: Mapping[str, Origin] = {
    "minimum": Code(LEDGER, "the source account has to hold more than the least balance, which is 0"),
    "equal_is_enough": Code(LEDGER, "the source has to hold more than what is moved"),
    "asks_for_assets": Code(LEDGER, "the source asset has to hold more than what is moved"),
    "credits_of_source": Code(LEDGER, "the destination gets what is moved on top of its own balance"),
    "undoes": Code(LEDGER, "a refused transfer changes no row"),
    "takes": Code(LEDGER, "the source has less by what is moved"),
    "moves_assets": Source(
        TSTREAM, "Transfer processes requests that transfer balances between user accounts and assets."
    ),
    "deposits": Source(TSTREAM, "Deposit processes requests that top-up user accounts or assets."),
}
BID = Source(
    TSTREAM,
    "bid request reduces the quantity of its requested item if the bid price is larger or equal to the "
    "asking price and otherwise rejected.",
)
ENOUGH = Source(TSTREAM, "If the item has insufficient quantities, the bid request is also rejected.")
ONLINE_BIDDING: Mapping[str, Origin] = {
    "equal_price_is_enough": BID,
    "asks_for_quantity": ENOUGH,
    "last_one_sells": ENOUGH,
    "bids_take": BID,
    "alters": Source(TSTREAM, "alter request modifies the prices of a list of requested items."),
    "tops": Source(TSTREAM, "top request increases the quantity of a list of items."),
    "knows_tokens": Source(
        TSTREAM, "Auth authenticates trade requests and dispatches valid requests for further processing."
    ),
}
TOLL_PROCESSING: Mapping[str, Origin] = {
    "order": Guess("the paper fuses the three steps into one operator, and lists them in this order"),
    "averages": Code(
        "Xtra-Computing/briskstream, the TStream branch", "the average of the old average and the new speed"
    ),
    "counts_each_once": Source(TSTREAM, "only unique vehicle counts."),
    "by_segment": Source(
        TSTREAM, "Vehicle Cnt (VC) computes the average number of unique vehicles of a road segment"
    ),
    "first_speed": Guess("no source says what the first speed is averaged with"),
    "crowd": Guess(TOLL),
    "slow": Guess(TOLL),
    "factor": Guess(TOLL),
}
