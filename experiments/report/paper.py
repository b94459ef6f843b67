"""The figures of the paper that ours stand beside: [TVE] Tables 1, 2 and 3."""

SETS = {"jsb": "JSB", "piano": "Piano", "nottingham": "Nottingham"}

MUSIC = {  # test NLL in nats for each step
    "HMM": (8.28, 9.41, 4.49), "FHMM": (8.40, 9.55, 4.72), "PFHMM": (8.30, 9.49, 4.76), "2HMM": (8.70, 9.57, 4.96),
    "arHMM": (8.00, 7.30, 3.29), "arFHMM": (8.22, 7.36, 3.57), "arPFHMM": (8.39, 9.57, 4.82), "ar2HMM": (8.19, 7.11, 3.34),
    "nnHMM": (6.73, 7.32, 2.67), "nnFHMM": (6.86, 7.41, 2.82), "nnPFHMM": (7.07, 7.47, 2.81), "nn2HMM": (6.78, 7.29, 2.81),
}  # fmt: skip

SEALS = {"none": (353e3, 30), "group": (342e3, 60), "individual": (341e3, 90), "both": (341e3, 120)}  # AIC, parameters

SENTIMENT = {  # accuracy, F1
    "LSTM-Final": (0.821, 0.780), "CRF-LSTM-Diag": (0.805, 0.764), "CRF-LSTM-LSTM": (0.843, 0.799),
    "CRF-Emb-LSTM": (0.833, 0.779),
}  # fmt: skip


def music(name, model):
    return MUSIC[model][list(SETS).index(name)]
